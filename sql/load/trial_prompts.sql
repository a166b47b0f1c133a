-- trial_prompts: a problem's name, with the tokens of its prompt where attempts agree on them.
-- grain: name
select
    name,
    if(min(prompt_tokens) = max(prompt_tokens), nullif(max(prompt_tokens), 0), null) as prompt_tokens,
from problem_names
inner join attempts using (competition, question_id)
group by name
