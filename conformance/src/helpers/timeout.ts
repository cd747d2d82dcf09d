/** Thrown by {@link within}; the only error that means "took too long". */
export class OutOfTime extends Error {
  constructor(limit: number) {
    super(`did not end within ${limit} ms`)
    this.name = "OutOfTime"
  }
}

/** The promise's outcome, or {@link OutOfTime} after the limit. What comes later goes nowhere, also when it is a rejection. */
export async function within<T>(limit: number, work: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OutOfTime(limit)), limit)
  })
  try {
    return await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}
