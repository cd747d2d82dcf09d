/** A line of `bytes` bytes, including its LF. */
export function lineOf(n: number, bytes = 2_048): string {
  const start = `{"n":${n},"text":"`
  return `${start}${"x".repeat(bytes - start.length - 3)}"}`
}

export function linesOf(count: number, from = 0, bytes = 2_048): string[] {
  return Array.from({ length: count }, (_, n) => lineOf(from + n, bytes))
}
