"""Fuzzing the reader: whatever the bytes, an error that names the file or a report that closes.

`mutations` spoils files, `corpus` holds the sound ones, `oracle` says what must hold of any input, `child`
asks it in a process of its own, `mutate` runs the campaign and `shrink` makes a failing input small.
"""
