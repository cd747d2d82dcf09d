/**
 * Looks for words, and reads entries that were found, before the whole of a session is read: the server does one thing at a time, and the whole
 * of a large session takes it seconds. A reading that has begun is aborted, and begins again when nothing is looked for.
 */
export class FindsFirst {
  #finds = 0
  #waiting: (() => void)[] = []
  #reading: AbortController | undefined

  async find<T>(look: () => Promise<T>): Promise<T> {
    this.#finds++
    this.#reading?.abort()
    try {
      return await look()
    } finally {
      if (--this.#finds === 0) for (const goOn of this.#waiting.splice(0)) goOn()
    }
  }

  async read<T>(read: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      if (this.#finds > 0) await new Promise<void>((goOn) => this.#waiting.push(goOn))
      const reading = (this.#reading = new AbortController())
      try {
        return await read(AbortSignal.any([signal, reading.signal]))
      } catch (error) {
        if (signal.aborted || !reading.signal.aborted) throw error
      }
    }
  }
}
