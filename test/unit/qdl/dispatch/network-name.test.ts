import { describe, expect, it } from 'vitest';
import { withNodeName } from '../../../../qdl/dispatch/network-name.ts';

// Goal: who reads of a broken node knows which of his it was. Method: texts and names by hand.
describe('a text about a node', () => {
  const nodes = [
    { address: '10.0.0.2:1', name: 'sut-a' },
    { address: '10.0.0.2:12', name: 'sut-b' },
    { address: '[::1]:7', name: 'model at [::1]:7' },
  ];

  it.each([
    ['SUT node 10.0.0.2:1 is shutting down', 'SUT node sut-a at 10.0.0.2:1 is shutting down'],
    ['SUT node 10.0.0.2:12: lost', 'SUT node sut-b at 10.0.0.2:12: lost'],
    ['SUT node 10.0.0.9:1: lost', 'SUT node 10.0.0.9:1: lost'],
    ['SUT node [::1]:7: lost', 'SUT node [::1]:7: lost'],
    ['the two ends counted differently', 'the two ends counted differently'],
  ])('names it beside its address: %s', (text, named) => {
    expect(withNodeName(text, nodes)).toBe(named);
  });
});
