"""The DB-API 2.0 adapter (PEP 249), imported as `kipql.dbapi`."""
