"""The MCP server: a memory for a model, through the official SDK (the extra `mcp`)."""
