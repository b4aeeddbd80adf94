import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../../../../loadgen-node/operate/config/inspect-sections.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { SUT_OPTIONS } from '../../../../../sut-node/settings/sut-settings.ts';

// Goal: the JSON Schema that editors read is the one of the code. Method: compare the committed
// file; `npx vitest run -u --project unit config-schema` writes it again.
describe('docs/longhaul.schema.json', () => {
  it('is what the tables of settings say', async () => {
    const schema = configJsonSchema({ run: RUN_SETTINGS, sut: SUT_OPTIONS });
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../../../../docs/longhaul.schema.json');
  });
});
