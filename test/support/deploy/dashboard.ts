import { readFileSync } from 'node:fs';
import { readYaml, repositoryFile } from './deploy-files.ts';

/** A panel of a Grafana dashboard, as far as tests read it. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly datasource?: { readonly uid: string };
  }[];
}

/** The dashboard of deploy/monitoring. */
export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly definition?: string;
    }[];
  };
}

/** A rule of Prometheus. */
export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The dashboard as Grafana reads it. */
export function readDashboard(): Dashboard {
  const file = repositoryFile('deploy/monitoring/grafana/dashboards/longhaul.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Dashboard;
}

/** The rules of a file in deploy/monitoring/prometheus/rules. */
export function readRules(name: 'alerts' | 'recording'): Rule[] {
  const path = `deploy/monitoring/prometheus/rules/${name}.yml`;
  return readYaml<{ groups: { rules: Rule[] }[] }>(path).groups.flatMap(({ rules }) => rules);
}
