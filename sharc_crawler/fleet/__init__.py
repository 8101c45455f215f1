"""Many workers, one brain per site: who owns a site, and the fenced journal of what each of its steps changed."""
