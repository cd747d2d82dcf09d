/** Shortest unique prefixes of ids, which every command takes in place of an id. */

/** Shorter ones are easily mistyped. */
const LEAST = 7

/** The shortest prefix of each id of `shown` that no other id of `all` begins with; the id itself if another one begins with it. */
export function shortIds(shown: readonly string[], all: Iterable<string>): ReadonlyMap<string, string> {
  const sorted = [...new Set([...all, ...shown])].sort()
  const places = new Map(sorted.map((id, place) => [id, place]))
  return new Map(
    shown.map((id) => {
      const place = places.get(id) as number
      const common = Math.max(commonOf(id, sorted[place - 1]), commonOf(id, sorted[place + 1]))
      return [id, id.slice(0, Math.max(LEAST, common + 1))]
    }),
  )
}

function commonOf(a: string, b: string = ""): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
