"""What tests of the whole server share: a running server, clients that hide nothing, and the real kubectl and helm."""
