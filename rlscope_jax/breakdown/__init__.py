"""PARTITION: events to self times, the wall-time partition, tables, and the report that carries them."""
