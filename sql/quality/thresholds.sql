-- thresholds: the share, in percent, from which a check warns or fails, and what to do then; a
--     total below `least` is not judged, and a share from `ok_from` on is fine again.
-- grain: check
select
    "check",
    least,
    warn_below,
    fail_below,
    warn_above,
    fail_above,
    ok_from,
    advice,
from (
    values
        -- check, least, warn below, fail below, warn above, fail above, ok from, advice; 9.999999
        -- is from 10 % on.
        ('finished', 1, 50, 1, null, null, null, 'unfinished attempts are never picked: if other finish reasons mean finished, load with --finished REASON,…'),
        ('answered', 1, 90, 1, null, null, null, 'finished attempts without an answer are never picked: see the query unboxed_texts, or try ''budget-audit answers --answer archive'' or regex:PATTERN'),
        ('answers_disagree', 1, null, null, 10, null, null, 'the log''s own answer differs from the one that is voted on: see table source_audit, or try ''budget-audit answers --answer archive'''),
        ('answers_missed', 1, null, null, 10, null, null, 'the source extracted an answer where none was read: try ''budget-audit answers --answer archive'' or regex:PATTERN'),
        ('right_not_eligible', 1, null, null, 5, 20, null, 'attempts labelled right can never be picked: are they answered in another way (''budget-audit answers --answer archive'' or regex:PATTERN), or finished for another reason (load with --finished REASON,…)?'),
        ('unknown_finish_reasons', 1, null, null, 0, null, null, 'only stop counts as finished: if these mean finished, load with --finished REASON,…'),
        ('references_differ', 1, null, null, 0, null, null, 'rows of one problem name different references, as where choices are shuffled: equal answers may mean different things'),
        ('labels_missing', 1, null, null, 0, null, null, 'without labels accuracy is unknown: load with --labels FILE or --map correct=PATH, or with --grade references where there are references'),
        ('labels_all_equal', 20, null, null, 0, null, null, 'every attempt has the same label: is the right column mapped to correct?'),
        ('labels_in_conflict', 1, null, null, 5, null, null, 'equal answers of one problem have different labels: see table grade_conflicts'),
        ('labels_unlike_grades', 1, null, null, 5, null, null, 'labels by --grade references differ from those that the source recorded: are references whole solutions, or written in another way?'),
        ('problems_dropped', 1, null, null, 0, null, null, 'problems with a missing label were left out by --unlabelled drop'),
        ('costs_counted', 1, null, null, 0, null, null, 'completion tokens were counted from the texts: reasoning that is not in them costs nothing here'),
        ('unused_cost_columns', 1, null, null, 0, null, null, 'the log has a column named like a cost that was not loaded: is it what an attempt cost? load with --map completion_tokens=PATH (or money), or name it in the select'),
        ('repeats_told_apart_by', 1, null, null, 0, null, null, 'a column that was not loaded splits the repeats of each problem evenly: is it another archive? load with --map archive=PATH, or name it in the select'),
        ('costs_constant', 20, null, null, 0, null, null, 'every attempt costs the same: is the right column mapped to completion_tokens?'),
        ('costs_at_a_limit', 20, null, null, 1, null, null, 'finished attempts cost exactly as much as the most: they may have been cut by a generation limit that the finish reasons do not show'),
        ('reasoning_not_counted', 1, null, null, 0, null, null, 'reasoning tokens are recorded beside the completion tokens, so that they may cost nothing here: load with --map completion_tokens=completion_tokens+reasoning_tokens (their paths in the file)'),
        ('texts_longer_than_costs', 1, null, null, 0, null, null, 'texts and the reasoning beside them have more than eight characters for each token, so that costs may leave something out: load with --map completion_tokens=PATH+PATH, or count the texts with --count-tokens ENCODING'),
        ('sampling_mixed', 1, null, null, 0, null, null, 'attempts of one archive were drawn at different temperatures, top_p or max_tokens: load each as an archive of its own'),
        ('banks_uneven', 1, null, null, 0, null, null, 'these problems have fewer attempts than others of the archive: was the log cut off, or were attempts left out?'),
        ('costs_extreme', 1, null, null, 0, null, null, 'these cost over 100 times what attempts of the other archives, or most of this one, cost: are they tokens?'),
        ('texts_cut', 1, null, null, 1, null, null, 'texts end inside a box, or at one and the same length, although their finish reason is stop: their answers may be lost'),
        ('duplicate_texts', 20, null, null, 5, null, null, 'long texts of one problem are the same: attempts may not be independent'),
        ('duplicate_records', 20, null, null, 9.999999, null, null, 'attempts of one problem have the same text or answer, cost and label: one attempt may be recorded twice'),
        ('seconds_beside_steps', 1, 90, null, null, null, null, 'steps hold less than the attempts took, counted in thousandths of a second: --unit seconds leaves out what passes between them'),
        ('scores_missing', 1, null, null, 0, null, null, 'selectors that read a score never pick attempts without it'),
        ('scores_tell_labels', 20, null, null, 96.999999, 98.999999, null, 'a score is larger for the correct attempt in nearly every pair of a problem, as if it were made from the labels: a selector that reads it is not blind; load without it'),
        ('eligibility_tells_labels', 20, null, null, null, 0, null, 'nearly every eligible attempt is correct and nearly every other one is not: eligibility is the label, so every selector is an oracle; check --finished and --answer'),
        ('labels_constant_in_problem', 10, null, null, null, 20, null, 'every problem has one label for all of its attempts although their answers differ: is correct a label of the problem? load with --map correct=PATH of each attempt'),
        ('logprobs_missing', 1, null, null, 5, null, 100, 'max_logprob never picks attempts without a log-probability'),
        ('banks_below_cap', 1, null, null, 0, null, null, 'these problems have fewer attempts than the cap, which acts there as their number'),
        ('beyond_live_budget', 1, null, null, 0, null, null, 'these problems were run under a smaller live budget, so that later attempts do not exist: replay at no more than that budget, under its rule, in the canonical order'),
        ('cut_by_live_budget', 1, null, null, 0, null, null, 'a live budget cut these attempts: their prefix_cost is not that of the unrestricted run'),
        ('ended_by_bank', 1, null, null, 5, null, null, 'these replays used all recorded attempts before the budget was spent; record more attempts to study this budget'),
        ('never_binds', 1, null, null, 95, null, null, 'this budget is too large to matter, both rules give the same result: replay smaller ones'),
        ('prompts_unknown', 1, null, null, 0, null, null, 'no prompt token of these attempts is known, so that prompts cost nothing here: load with --map prompt_tokens=PATH, or replay with --unit completion'),
        ('problems_without_votes', 1, null, null, 50, 99, null, 'the primary selector can pick nothing in these problems: choose another --primary-selector')
) as judged ("check", least, warn_below, fail_below, warn_above, fail_above, ok_from, advice)
order by "check"
