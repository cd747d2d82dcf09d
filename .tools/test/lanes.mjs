/**
 * Runs steps in order, up to `lanes` of them at a time, and returns their outcomes in that order. A step with `alone: true` uses all cores
 * by itself, or measures something: nothing runs beside it.
 */
export async function runInLanes(steps, lanes, runStep) {
  const outcomes = []
  const running = new Set()
  for (const [index, step] of steps.entries()) {
    const most = step.alone ? 0 : lanes - 1
    while (running.size > most) await Promise.race(running)
    const run = runStep(step).then((outcome) => {
      outcomes[index] = outcome
    })
    const ended = run.finally(() => running.delete(ended))
    running.add(ended)
    if (step.alone) await ended
  }
  await Promise.all(running)
  return outcomes
}
