/** Clients in processes of any runtime, each killed with SIGKILL. */
import { type Runtime, start, type Worker } from "../../../../packages/fs/test/crash/processes.ts"
import type { Answer, Call, Plan, Stored } from "../client/plan.ts"
import { offsetFrom, type Offset, type Recording, SAME_CLOCK } from "../recording.ts"
import type { Client } from "./store.ts"

type Said =
  | { readonly begin: number; readonly at: number; readonly call: Call }
  | { readonly end: number; readonly at: number; readonly answer: Answer }

/** Milliseconds by the machine's monotonic clock. */
function clock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export function startProcess(
  runtime: Runtime,
  program: string,
  plan: Plan,
  recording: Recording,
  begun: () => void,
): Client {
  const worker = start(runtime, program)
  let killed = false
  return {
    ended: follow(),
    kill() {
      killed = true
      worker.process.kill("SIGKILL")
    },
  }

  async function follow(): Promise<void> {
    const offset = await offsetOf(worker)
    worker.send({ plan })
    try {
      for await (const said of worker.said as AsyncIterable<Said>) {
        if ("end" in said) recording.end(plan.name, said.end, said.answer, said.at, offset)
        else {
          recording.begin(plan.name, said.begin, said.call, said.at, offset)
          begun()
        }
      }
    } catch (error) {
      // A kill may cut off the last line.
      if (!killed || !(error instanceof SyntaxError)) throw error
    }
    await worker.ended
    if (!killed && worker.process.exitCode !== 0) throw endedByItself(worker)
  }
}

/** What a new process finds. */
export async function readInProcess(runtime: Runtime, program: string, plan: Plan): Promise<Stored> {
  const worker = start(runtime, program)
  worker.send({ plan })
  const { value, done } = await worker.said.next()
  if (done === true) throw endedByItself(worker)
  await worker.ended
  return (value as { stored: Stored }).stored
}

function endedByItself({ runtime, complaints }: Worker): Error {
  return new Error(`A client in ${runtime.name} ended by itself: ${complaints()}`)
}

/** Enough to find one exchange without a pause in it. */
const READINGS = 20

/** Only Node shows the machine's clock; the clocks of the others begin with their process. */
async function offsetOf(worker: Worker): Promise<Offset> {
  if (worker.runtime.name === "node") return SAME_CLOCK
  const readings: (readonly [number, number, number])[] = []
  while (readings.length < READINGS) {
    const before = clock()
    worker.send({ clock: true })
    const { value, done } = await worker.said.next()
    if (done === true) throw endedByItself(worker)
    readings.push([before, (value as { clock: number }).clock, clock()])
  }
  return offsetFrom(readings)
}
