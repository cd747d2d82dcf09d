/** The outcome of a promise that settles without any wait, else "still waiting": a test of a call that must not hang fails at once. */
export async function soon<T>(promise: Promise<T>): Promise<T | "still waiting"> {
  const later = async (): Promise<"still waiting"> => {
    for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => void setImmediate(resolve))
    return "still waiting"
  }
  return Promise.race([promise, later()])
}

/** Of the event loop. A call on a storage in memory takes a few. */
const TURNS = 200
