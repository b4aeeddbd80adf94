import { describe, expect, it } from 'vitest';
import { countLines, maskSource } from '../../tools/source-text.ts';

// Goal: comments, literals and code are told apart where the marks of one stand inside another.
// Method: lines that mislead a search by pattern, with the expected text written out.

describe('maskSource', () => {
  it.each([
    ['a comment at the end of a line', 'a; // b', 'a;     '],
    ['a comment over two lines', 'a /* b\nc */ d', 'a     \n     d'],
    ['a comment without an end', 'a /* b', 'a     '],
    ['marks of a comment in a string', 'f(\'// a\', "/* b"); c', 'f(\'____\', "____"); c'],
    ['an escaped quote', "f('a\\'// b'); c", "f('_______'); c"],
    ['quotes in a comment', "a; // it's\nb; // it's", 'a;        \nb;        '],
    [
      'a template',
      `\`// \${a /* b */ + \`\${c} //\`} //\`; d`,
      `\`___\${a         + \`\${c}___\`}___\`; d`,
    ],
    ['an object in a template', `\`\${f({ a: {} })}//\`; b`, `\`\${f({ a: {} })}__\`; b`],
    ['a dollar that begins no value', `\`$// \\\${a}\`; b`, '`_________`; b'],
    ['a regex', 'a = /\\/\\/[/"]\\/*/g; b', 'a = ______________; b'],
    ['a regex after a word', 'return /"/.test(a); // b', 'return ___.test(a);     '],
    ['a regex after a condition', 'if (a) /"/.exec(b); // c', 'if (a) ___.exec(b);     '],
    ['a regex after an arrow', '(a) => /"/.test(a); // b', '(a) => ___.test(a);     '],
    ['divisions', 'a / b / c; // d', 'a / b / c;     '],
    ['a division after a call', "f(a) / 2; b('/'); c", "f(a) / 2; b('_'); c"],
    ['a division after an index', "a[0] / 2; b('/'); c", "a[0] / 2; b('_'); c"],
    ['a division after a count', "a++ / 2; b('/'); c", "a++ / 2; b('_'); c"],
    ['a division after a sure value', "a! / 2; b('/'); c", "a! / 2; b('_'); c"],
    ['a division after a property named as a word', "a.in / 2; b('/')", "a.in / 2; b('_')"],
    ['a division after a template', "`a` / 2; b('/'); c", "`_` / 2; b('_'); c"],
    ['a regex after a negation', '!/"/.test(a) // b', '!___.test(a)     '],
    ['the first line of a script', "#!/usr/bin/it's //\na // b", "#!/usr/bin/it's //\na     "],
  ])('tells %s', (_, text, masked) => {
    expect(maskSource(text)).toBe(masked);
  });
});

describe('countLines', () => {
  it('counts a line with code and a comment as code, and no blank line', () => {
    const text = "/** A\n\n * b */\na(); // c\n\n/* d */ e();\n  // f\n'//';\n`\n// g\n\n`;\n";
    expect(countLines('a.ts', text)).toEqual({ code: 6, comments: 3 });
  });

  it('counts lines that end in CR and LF', () => {
    expect(countLines('a.ts', '// a\r\n\r\nb;\r\n')).toEqual({ code: 1, comments: 1 });
  });

  it.each(['a.sh', 'a.py'])('counts the first line of %s as code if it names the shell', (file) => {
    const text = '#!/bin/sh\n# a\n  # b\n\nc "#" # d\n';
    expect(countLines(file, text)).toEqual({ code: 2, comments: 2 });
  });

  it('knows the comments of CSS, where two slashes are none', () => {
    const text = '/* a\n b */\nc { background: url(//d); }\n';
    expect(countLines('a.css', text)).toEqual({ code: 1, comments: 2 });
  });

  it('knows the comments of HTML', () => {
    expect(countLines('a.html', '<!-- a\n b -->\n<p>// c</p>\n')).toEqual({
      code: 1,
      comments: 2,
    });
  });
});
