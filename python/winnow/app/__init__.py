"""What happens: one actor per chat, on one asyncio loop. Knows core and ports only."""
