-- terminal_blocks: answer_blocks of every terminal.
-- grain: archive, terminal, block
{% set answers = 'terminal_answers' %}
{% set more = ', terminal' %}
{% include 'bootstrap/answer_blocks.sql' %}
