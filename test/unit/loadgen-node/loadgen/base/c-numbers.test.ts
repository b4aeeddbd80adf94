import { describe, expect, it } from 'vitest';
import { parseDouble, parseUint64 } from '../../../../../loadgen-node/loadgen/base/c-numbers.ts';

const U64_MAX = 18446744073709551615n;

// Goal: numbers of configuration files are read as C reads them, digit for digit.
// Method: tables of texts with what strtoull (base 0) and strtod of glibc 2.36 make of them.
describe('parseUint64', () => {
  it.each<[string, string, bigint, number]>([
    ['decimal', '1500', 1500n, 4],
    ['hexadecimal', '0x10', 16n, 4],
    ['hexadecimal in capitals', '0XfF', 255n, 4],
    ['octal', '010', 8n, 3],
    ['octal up to a digit that is none', '08', 0n, 1],
    ['zero', '0', 0n, 1],
    ['the beginning of a hexadecimal without digits', '0x', 0n, 1],
    ['the whole part of a decimal', '1500.9', 1500n, 4],
    ['what stands before an exponent', '1e3', 1n, 1],
    ['with a plus', '+7', 7n, 2],
    ['a minus, which wraps', '-1', U64_MAX, 2],
    ['a seed with all its digits', '3066443479025735752', 3066443479025735752n, 19],
    ['the largest', '18446744073709551615', U64_MAX, 20],
    ['too much, which saturates', '18446744073709551616', U64_MAX, 20],
    ['too much below zero, which saturates too', '-99999999999999999999', U64_MAX, 21],
    ['no number', 'abc', 0n, 0],
    ['a sign alone', '-', 0n, 0],
    ['no binary', '0b101', 0n, 1],
  ])('reads %s', (_case, text, value, length) => {
    expect(parseUint64(text)).toEqual({ value, length });
  });
});

describe('parseDouble', () => {
  it.each<[string, string, number, number]>([
    ['decimal', '1.5', 1.5, 3],
    ['a leading point', '.5', 0.5, 2],
    ['a trailing point', '5.', 5, 2],
    ['an exponent', '1e3', 1000, 3],
    ['an exponent without digits up to it', '1e', 1, 1],
    ['a leading zero as decimal', '010', 10, 3],
    ['hexadecimal', '0x10', 16, 4],
    ['hexadecimal with exponent', '0x1.8p3', 12, 7],
    ['hexadecimal with a leading point', '0x.8', 0.5, 4],
    ['the zero before an x alone', '0x', 0, 1],
    ['a negative', '-2.5', -2.5, 4],
    ['inf', 'inf', Number.POSITIVE_INFINITY, 3],
    ['infinity in capitals', '-INFINITY', Number.NEGATIVE_INFINITY, 9],
    ['inf up to what follows', 'infinit', Number.POSITIVE_INFINITY, 3],
    ['nan', 'nan', Number.NaN, 3],
    ['nan with a text', 'NaN(12_a)', Number.NaN, 9],
    ['nan up to an open bracket', 'nan(1', Number.NaN, 3],
    ['too large a number', '1e999', Number.POSITIVE_INFINITY, 5],
    ['an exponent out of bounds', '0x1p99999999999', Number.POSITIVE_INFINITY, 15],
    ['no number', 'abc', 0, 0],
    ['a point alone', '.', 0, 0],
  ])('reads %s', (_case, text, value, length) => {
    expect(parseDouble(text)).toEqual({ value, length });
  });
});
