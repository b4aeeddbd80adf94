// What two namespaces of one machine must look like in network_audit.json: two hosts' addresses,
// and of all that could be wrong with the topology only that both ends run under one kernel. Usage:
// node judge-audit.mjs FILE LOADGEN-ADDRESS SUT-ADDRESS. Exit code 0 when all of it holds, else 3.
import { readFileSync } from 'node:fs';

const [file, loadgenAddress, sutAddress] = process.argv.slice(2);
const audit = JSON.parse(readFileSync(file, 'utf8'));
const ours = audit.loadgenNode.host;
const [node] = audit.nodes;
const theirs = node?.description?.host ?? { addresses: [], bootId: '' };
const rules = audit.rules.filter(({ verdict }) => verdict !== 'holds');
const topology = rules.find(({ id }) => id === 'separate-machines');
const broken = rules.filter(({ verdict }) => verdict === 'broken');

const checks = [
  [
    `LoadGen's host has the address ${loadgenAddress} alone`,
    ours.addresses.filter(isIpv4).join() === loadgenAddress,
  ],
  [
    `the SUT node's host has the address ${sutAddress} alone`,
    theirs.addresses.filter(isIpv4).join() === sutAddress,
  ],
  ['one node answered', audit.nodes.length === 1],
  ['both ends tell one boot id', ours.bootId !== '' && ours.bootId === theirs.bootId],
  ['the audit names it', topology?.evidence?.join().includes(ours.bootId) === true],
  ['it is the one broken rule', broken.length === 1 && broken[0]?.id === 'separate-machines'],
  ['both ends counted the same', node?.differences.length === 0 && node.theirs !== null],
];

for (const rule of rules) {
  console.log(`${rule.verdict.padEnd(12)} ${rule.id}: ${rule.explanation ?? rule.why ?? ''}`);
  for (const line of rule.evidence ?? []) console.log(`             ${line}`);
}
console.log(`${audit.rules.length - rules.length} of ${audit.rules.length} rules hold`);
for (const [what, isSo] of checks)
  console.log(`${isSo ? 'as it must be' : 'WRONG       '}  ${what}`);
process.exitCode = checks.every(([, isSo]) => isSo) ? 0 : 3;

/** @param {string} address */
function isIpv4(address) {
  return /^\d+(\.\d+){3}$/.test(address);
}
