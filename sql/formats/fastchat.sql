-- fastchat: a choice of a question of FastChat or LiveBench (model_answer/*.jsonl): what the model said last, of
--     turns that build on one another; a count of tokens is of all choices, so that it is one attempt's alone.
-- grain: archive, competition, question_id, seed
-- title: FastChat or LiveBench answers
-- recognized by: question_id answer_id choices.*.turns
-- absent: correct=no labels are in the log; competition=answers name no benchmark; completion_tokens=no count of one choice's tokens; finish_reason=answers record none
select
    answer.number,
    answer.record,
    answer.record ->> '$.model_id' as archive,
    coalesce(answer.record ->> '$.category', answer.record ->> '$.task') as competition,
    answer.record ->> '$.question_id' as question_id,
    coalesce(choice.value ->> '$.index', choice.key)::bigint as seed,
    if(
        json_array_length(answer.record, '$.choices') = 1,
        (answer.record ->> '$.total_output_tokens')::double::bigint,
        null
    ) as completion_tokens,
    choice.value ->> '$.turns[#-1]' as text,
from records as answer
cross join json_each(answer.record, '$.choices') as choice
order by answer.number, choice.key::bigint
