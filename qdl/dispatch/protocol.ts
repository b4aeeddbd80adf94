import type { AddressScheme } from '../../shared/config/address-scheme.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import type { SamplePayloads } from '../../shared/domain/system-under-test.ts';
import type { NameCall } from '../../shared/evidence/evidence-schema.ts';
import type { DispatchSettings, ProtocolSettings } from '../settings/dispatch-settings.ts';
import type { Preparation } from './preparation.ts';
import type { ProtocolDriver } from './query-dispatch-library.ts';
import type { ServerProbe } from './server-probe.ts';

/**
 * Facts of a protocol that audit, notes, report, evidence and settings use; they never test its
 * name. A trait states what the messages can carry, not what one server does.
 */
export interface ProtocolTraits {
  /**
   * `sut-node`: describes its host, settings and identity. `server`: only name, version and tensors
   * are known.
   */
  readonly peer: 'sut-node' | 'server';
  /**
   * Carrier of samples: a `part` of a query on a long-lived stream, or a `request` with its own
   * response.
   */
  readonly message: 'part' | 'request';
  /** Both ends count the run, and the counts are compared at the end. */
  readonly hasLedger: boolean;
  /** Both ends digest a share of the payloads. */
  readonly hasDigests: boolean;
  /** The response to Name() echoes a nonce, so no proxy or cache can have made it. */
  readonly hasNameEcho: boolean;
  /** A response reports how long each step took at the SUT. */
  readonly hasDurations: boolean;
  /** Tokens reported as they are generated. */
  readonly tokenTimes: 'each' | 'first' | 'none';
  /** The SUT answers warm-up queries itself, without its model, and does not count them. */
  readonly hasWarmUp: boolean;
  /** Samples and responses may be compressed one by one, and messages state it. */
  readonly hasCompression: boolean;
}

/** Texts about a protocol's bytes on a link. */
export interface WireWords {
  /** Layers between the protocol's messages and TLS or TCP. */
  readonly transport: string;
  /** Bytes of a message besides its payload. A sentence without capital letter and full stop. */
  readonly framing: string;
  /**
   * Compression of messages on the wire, as the start of a sentence. Default: derived from the
   * protocol's title.
   */
  readonly compression?: string;
  /** Why messages are known to be uncompressed, as a sentence; empty if nothing shows it. */
  readonly uncompressed: string;
  /** Response headers that do not reveal a proxy, and who sends them; names in lower case. */
  readonly answerHeaders: { readonly sender: string; readonly names: readonly string[] };
}

/** Texts of a protocol, for people. */
export interface ProtocolWords {
  /** Method of a node that LoadGen's Name() calls. */
  readonly nameCall: string;
  /** Names of request methods, by key; a missing key stands for itself. */
  readonly methods: Readonly<Record<string, string>>;
  /** Setting without idle streams that a server might end; empty: none. */
  readonly idleStreams: string;
  readonly wire: WireWords;
  /** Whole sentences: the facts that the evidence of a run shows, and those it does not. */
  readonly evidence: {
    readonly shown: readonly string[];
    /** Proxies that are not detected; may be empty. */
    readonly proxies: string;
    /** Limits of the evidence, or where to find more. */
    readonly beyond: string;
  };
}

/** Settings of a verb by key; a protocol's own options have the types of its table. */
export type ProtocolValues = Readonly<Record<string, unknown>>;

/** Settings of a run that a protocol may read. */
export interface ProtocolRunValues extends ProtocolValues {
  readonly sut: readonly string[];
  /** Set if samples follow the model's inputs. */
  readonly data?: string | undefined;
  readonly inputShape?: readonly string[] | undefined;
}

/** The part of a protocol that connects. */
export interface ProtocolWorks {
  /** Makes a driver. It does not connect before its first call. */
  open(settings: DispatchSettings, payloads: SamplePayloads): ProtocolDriver;
  /** Asks the nodes for their names, and does all other checks that need no run. */
  askNames(settings: DispatchSettings): Promise<NameCall>;
}

/** A protocol between LoadGen and SUT, as an object. */
export interface Protocol {
  /** Name in files (audit, summary). Never changes. */
  readonly name: string;
  /** Name for people, as in `a server of TITLE`. */
  readonly title: string;
  /** Part of an address before `://`; null: addresses have no scheme. */
  readonly scheme: string | null;
  /** Texts about its addresses. Default: plain ones. */
  readonly addressWords?: Omit<AddressScheme, 'scheme'>;
  readonly traits: ProtocolTraits;
  readonly words: ProtocolWords;
  /** Settings that only this protocol has. */
  readonly options: SettingTable;
  /** Those of {@link options} that also apply to verbs that only ask for names. */
  readonly nameOptions: SettingTable;
  /**
   * Why a run setting has no effect with this protocol, by key. A setting that depends on no trait
   * is refused for this reason alone.
   */
  readonly reasons?: Readonly<Record<string, string>>;
  /** Its settings of the QDL. @throws MlperfError `ERR_CONFIG_INVALID` */
  settings(values: ProtocolValues): ProtocolSettings;
  /** Its work before a run. @throws MlperfError `ERR_CONFIG_INVALID` */
  plan(values: ProtocolRunValues): Preparation;
  /**
   * @throws MlperfError `ERR_CONFIG_INVALID` for settings that contradict each other with this
   * protocol
   */
  check(settings: DispatchSettings): void;
  /** True if each query has its own headers, which can carry `traceparent` (W3C Trace Context). */
  hasHeaders(settings: DispatchSettings): boolean;
  /**
   * Probes one server without load or inference. Absent: `longhaul probe` does not support it.
   * @throws MlperfError
   */
  probe?(address: string, settings: DispatchSettings): Promise<ServerProbe>;
  /** Loads the implementation when it is needed, so the list of protocols stays light. */
  load(): Promise<ProtocolWorks>;
}
