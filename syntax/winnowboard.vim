" The lines of the board: core/run/board.py writes them.
if exists('b:current_syntax')
  finish
endif
syntax match WinnowMarker /⟦[^⟧]*⟧/ conceal
syntax match WinnowHead /^━━.*/ contains=WinnowMarker
syntax match WinnowUndecided /^[?!] .*/ contains=WinnowMarker
syntax match WinnowFailed /^✗ .*/ contains=WinnowMarker
syntax match WinnowTool /^▸ .*/ contains=WinnowMarker
syntax match WinnowDescription /^[✓–] .*/ contains=WinnowMarker
let b:current_syntax = 'winnowboard'
