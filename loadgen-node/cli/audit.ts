import type { Command } from 'commander';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { readAudit } from '../observe/audit/network-audit.ts';
import { brokenFindings } from '../run/audit/compose-audit.ts';
import { explainAudit } from '../run/audit/explain-audit.ts';

const EXAMPLE = `
Example:
  longhaul audit network results/first

Exit codes: 0 no rule is broken, 3 a rule is broken (also when LoadGen and SUT are on one machine) or the
run was interrupted, 2 the file is missing, damaged, or of another version.`;

/** `longhaul audit`: what the evidence of a run says about the rules. */
export function auditCommand(setExitCode: (code: number) => void): Command {
  const network = createCommand(
    'network',
    'explain network_audit.json, rule by rule: what holds, what is broken, what cannot be shown',
  );
  addJson(network)
    .argument('<run-dir>', 'output folder of a run')
    .addHelpText('after', EXAMPLE)
    .action((folder: string) => {
      const audit = readAudit(folder);
      const brokenRules = brokenFindings(audit).map(({ id }) => id);
      const isClean = brokenRules.length === 0 && !audit.run.wasInterrupted;
      writeResult(network, { text: explainAudit(audit), json: { isClean, brokenRules, audit } });
      setExitCode(isClean ? EXIT.valid : EXIT.invalid);
    });
  return createCommand('audit', 'check a run against the rules of its division').addCommand(
    network,
  );
}
