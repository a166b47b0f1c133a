"""Past one machine: the same SQL files run part by part, anywhere, and are gathered into one."""
