"""The HTTP endpoint: envelopes over POST /kip, for clients that carry a bearer token (the extra `serve`)."""
