/** Not `push(...more)`, whose arguments are on the stack: an answer of another program may have more blocks than that takes. */
export function addAll<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one)
}
