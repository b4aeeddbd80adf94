import { text } from '../../shared/config/setting.ts';

/** Settings that several server protocols share: the same key is the same setting in each. */
export const SERVER_OPTIONS = { model: text('name[:version]', 'model of the server') };
