"""Kinds, codecs, patches, selectors, quantities and errors: no I/O, no asyncio."""
