/** Cores by implementer and part, as `/proc/cpuinfo` numbers them. Source: Arm's MIDR_EL1 of each core. */
const CORES: Readonly<Record<string, string>> = {
  '0x41 0xd03': 'Arm Cortex-A53',
  '0x41 0xd05': 'Arm Cortex-A55',
  '0x41 0xd07': 'Arm Cortex-A57',
  '0x41 0xd08': 'Arm Cortex-A72',
  '0x41 0xd09': 'Arm Cortex-A73',
  '0x41 0xd0a': 'Arm Cortex-A75',
  '0x41 0xd0b': 'Arm Cortex-A76',
  '0x41 0xd0c': 'Arm Neoverse-N1',
  '0x41 0xd40': 'Arm Neoverse-V1',
  '0x41 0xd41': 'Arm Cortex-A78',
  '0x41 0xd42': 'Arm Cortex-A78AE',
  '0x41 0xd49': 'Arm Neoverse-N2',
  '0x41 0xd4f': 'Arm Neoverse-V2',
  '0xc0 0xac3': 'Ampere-1',
  '0xc0 0xac4': 'Ampere-1a',
};

/** Name of an ARM core; where it is not known here, its two numbers. */
export function armModel(implementer: string, part: string): string {
  const key = `${implementer} ${part}`.toLowerCase();
  return CORES[key] ?? `ARM core with implementer ${implementer}, part ${part}`;
}
