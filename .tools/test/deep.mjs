// What `npm run test:deep` runs: all steps, in parts of about the same length.

/** A step that `npm test` leaves out. */
export function onlyDeep(step) {
  return { ...step, isDeep: true }
}

/** Minutes of a step without an estimate. */
const SHORT = 0.5

/** Part `part` of `parts` of the steps, in their order: each goes, the longest first, to the part that has the least to do. The same steps give the same parts. */
export function partOf(steps, { part, parts }) {
  const filled = Array.from({ length: parts }, () => ({ minutes: 0, steps: new Set() }))
  for (const step of steps.toSorted((a, b) => minutesOf(b) - minutesOf(a))) {
    const least = filled.reduce((best, one) => (one.minutes < best.minutes ? one : best))
    least.minutes += minutesOf(step)
    least.steps.add(step)
  }
  return steps.filter((step) => filled[part - 1].steps.has(step))
}

/**
 * The share of its rounds that each search makes so that all steps take about `minutes` on two cores: what is no search always runs whole.
 */
export function scaleFor(steps, minutes) {
  const sum = (some) => some.reduce((total, step) => total + minutesOf(step), 0)
  const searches = sum(steps.filter(({ isSearch }) => isSearch))
  const fixed = sum(steps) - searches
  return searches === 0 ? 1 : Math.min(1, Math.max(0, (minutes - fixed) / searches))
}

function minutesOf({ minutes = SHORT }) {
  return minutes
}
