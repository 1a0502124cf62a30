-- From form 9 to form 10: acts of the audit log are codes; what an act was about has a column.

ALTER TABLE audit_log RENAME COLUMN what TO act;
ALTER TABLE audit_log ADD COLUMN target TEXT NOT NULL DEFAULT '';
UPDATE audit_log SET act = 'exported', target = substr(act, 10) WHERE act LIKE 'exported %';
UPDATE audit_log SET act = 'let_in', target = substr(act, 11) WHERE act LIKE 'let in as %';
UPDATE audit_log SET act = 'scenario_' || substr(act, instr(act, ' ') + 1), target = substr(act, 1, instr(act, ' ') - 1)
    WHERE act <> 'instructions proposed'
    AND (act LIKE '% proposed' OR act LIKE '% accepted' OR act LIKE '% rejected' OR act LIKE '% discarded');
UPDATE audit_log SET act = 'scenarios_' || substr(act, instr(act, ' ') + 1), target = substr(act, 1, instr(act, ' ') - 2)
    WHERE act LIKE '%s brought' OR act LIKE '%s removed';
UPDATE audit_log SET act = replace(act, ' ', '_') WHERE act IN (
    'link withdrawn', 'labels set', 'name removed', 'guidelines replaced', 'gold items set',
    'training items set', 'training set', 'extra set', 'adjudication set', 'repeats set', 'match set',
    'reveal set', 'discussion set', 'opened to a crowd', 'parts divided', 'variant kept',
    'instructions proposed', 'test part opened', 'version adopted', 'model added', 'model changed',
    'model removed', 'currency of prices set', 'models changed back');
