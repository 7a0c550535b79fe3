"""The pure part: values in, values out. No pynvim, no SDK, no asyncio, no I/O."""
