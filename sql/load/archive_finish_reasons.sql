-- archive_finish_reasons: how often an archive's attempts ended for a reason, and whether the reason
--     is a limit, an error or something else that no tool calls finished.
-- grain: archive, finish_reason
select
    archive,
    finish_reason,
    count(*) as attempts,
    finish_reason <> 'stop'
    and regexp_matches(
        lower(finish_reason),
        -- Limits: of tokens, turns, time and money, as exit words, exceptions and phrases name them.
        '^$|length|limit|exceed|overflow|truncat|max_tokens|max_output_tokens'
        || '|(^|[ _-])max$|max(imum)?[ _-]?(turns|steps|iterations|messages|rounds|calls|time|cost)|too[ _-]?many'
        || '|time[ _-]?out|timed[ _-]?out|expired|\bexit_|budget'
        -- Errors and interruptions.
        || '|error|exception|fail|crash|abort|cancel|interrupt|killed|incomplete|skipped|stuck|content_filter'
        -- A call that is left to be answered.
        || '|^tool_calls$|^tool_use$|^function_call$'
    ) as is_unfinished,
from attempts
group by archive, finish_reason
order by archive, attempts desc, finish_reason
