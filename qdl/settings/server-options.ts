import { text } from '../../shared/config/setting.ts';

/** Settings that protocols of servers share: a key that several have is the same setting in each. */
export const SERVER_OPTIONS = { model: text('name[:version]', 'model of the server') };
