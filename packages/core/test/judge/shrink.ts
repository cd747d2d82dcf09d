/** Finds the shortest history that still breaks a law. */
import type { Op } from "./history.ts"
import { drawCase, judge } from "./judge.ts"
import { type Law, LAWS } from "./laws.ts"

export async function shrink(seed: number): Promise<void> {
  const { world, ops } = drawCase(seed)
  const { broken } = await judge(world, ops)
  if (broken.size === 0) console.log(`--seed ${seed} breaks no law`)
  const { count: _, models, ...hidden } = world
  if (broken.size > 0) console.log(JSON.stringify({ ...hidden, models }))
  for (const law of broken.keys()) {
    const short = await shortest(seed, ops, law)
    const what = (await judge(drawCase(seed).world, short)).broken.get(law) ?? ""
    console.log(`${law}: ${LAWS[law]}\n  ${what}`)
    for (const op of short) console.log(`  ${JSON.stringify(op)}`)
  }
}

/** Leaves out operations, then steps, parallel calls and messages, as long as the law is broken. */
async function shortest(seed: number, ops: readonly Op[], law: Law): Promise<readonly Op[]> {
  let short = ops
  for (let changed = true; changed; ) {
    changed = false
    for (const smaller of smallerThan(short)) {
      const { world } = drawCase(seed)
      const { broken } = await judge(world, smaller)
      if (!broken.has(law)) continue
      short = smaller
      changed = true
      break
    }
  }
  return short
}

function* smallerThan(ops: readonly Op[]): Generator<readonly Op[]> {
  for (let at = ops.length - 1; at >= 0; at--) yield ops.toSpliced(at, 1)
  for (const [at, op] of ops.entries()) {
    if (op.op === "tools" && op.steps > 1) yield ops.with(at, { ...op, steps: op.steps - 1 })
    if (op.op === "tools" && op.parallel > 1) yield ops.with(at, { ...op, parallel: 1 })
    if (op.op === "group" && op.messages > 3) yield ops.with(at, { ...op, messages: Math.ceil(op.messages / 2) })
    if (op.op === "images" && op.images > 1) yield ops.with(at, { ...op, images: 1 })
  }
}
