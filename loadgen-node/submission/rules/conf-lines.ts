/**
 * Lines of user.conf or mlperf.conf that an official checker cannot split: it wants one "=" and a key of three parts.
 * Source: submission_checker.py of v4.1, where a model needs equal issue.
 */
export function brokenConfLines(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => {
    if (line === '' || line.startsWith('#')) return false;
    const [key, ...values] = line.split('=');
    return values.length !== 1 || key?.split('.').length !== 3;
  });
}
