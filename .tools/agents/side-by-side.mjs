// Two conversations as a report: the rows that differ, with those around them.
const WIDTH = 70
const AROUND = 2

export function sideBySide(expected, found) {
  const count = Math.max(expected.length, found.length)
  const differs = Array.from({ length: count }, (_, i) => expected[i] !== found[i])
  const isShown = (i) => differs.slice(Math.max(0, i - AROUND), i + AROUND + 1).some(Boolean)
  const rows = differs.flatMap((differs, i) => {
    if (!isShown(i)) return []
    const [left, right] = differs ? cutPair(expected[i] ?? "", found[i] ?? "") : [expected[i], found[i]].map(cut)
    return [`  ${differs ? "*" : " "} ${left.padEnd(WIDTH)} | ${right}`]
  })
  return [`    ${"our context".padEnd(WIDTH)} | the request`, ...rows]
}

/** From where they differ, if that is far from the beginning. */
function cutPair(a, b) {
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  if (same < WIDTH / 2) return [cut(a), cut(b)]
  const from = same - 15
  return [a, b].map((text) => cut(text === "" ? "" : `${text.slice(0, 15)}…${text.slice(from)}`))
}

function cut(text) {
  const shown = text.replaceAll("\n", "⏎")
  return shown.length > WIDTH ? `${shown.slice(0, WIDTH - 1)}…` : shown
}
