"""One function per thing a user can ask for; no printing, no HTTP."""
