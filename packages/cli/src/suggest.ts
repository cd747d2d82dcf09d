/** The known name that is closest to a misspelled one, if one is close enough. */
export function suggest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(1, Math.floor(name.length / 2)) + 1
  for (const candidate of known) {
    const distance = candidate.startsWith(name) ? 1 : editDistance(name, candidate)
    if (distance < least) {
      best = candidate
      least = distance
    }
  }
  return best
}

/** Damerau-Levenshtein distance, optimal string alignment: insertions, deletions, substitutions and adjacent transpositions. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min(at(rows, i - 1, j) + 1, at([row], 0, j - 1) + 1, at(rows, i - 1, j - 1) + substitution)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, at(rows, i - 2, j - 2) + 1)
      row.push(cost)
    }
    rows.push(row)
  }
  return at(rows, a.length, b.length)
}

function at(rows: readonly (readonly number[])[], i: number, j: number): number {
  return rows[i]?.[j] ?? Number.POSITIVE_INFINITY
}
