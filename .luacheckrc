std = 'luajit'
globals = { 'vim' }
max_line_length = 100
exclude_files = { '.venv' }
self = false -- methods may ignore self
