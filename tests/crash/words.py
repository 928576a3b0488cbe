"""The statements that the crash tests write and read."""

CREATE = 'CREATE CONCEPT ?c { TYPE "Person" NAME :key SET FIELDS { key: :key } }'
PURGE = 'PURGE ?c WHERE { ?c {type: "Person", key: :key} } CONFIRM "PURGE"'
DEFINE = 'DEFINE PREDICATE "%s" { description: "A draft." }'
LIVE = 'FIND(?c.key) WHERE { ?c {type: "Person"} FILTER(IS_NOT_NULL(?c.key)) }'
