"""| Many workers, each site owned by one of them: who owns it, and the fenced journal of its steps."""
