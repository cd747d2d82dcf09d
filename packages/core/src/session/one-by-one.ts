/** The items of runs one by one. A generator would wait several turns for each of a hundred thousand items that are there. */
export function oneByOne<T>(runs: AsyncIterator<readonly T[]>): AsyncIterable<T> {
  return new OneByOne(runs)
}

/** Behaves as a generator does: it is read once, calls are answered in their order, and leaving it early ends the runs. */
class OneByOne<T> implements AsyncIterableIterator<T, undefined> {
  readonly #runs: AsyncIterator<readonly T[]>
  #run: readonly T[] = []
  #at = 0
  /** Calls that wait for a run, and the last of them. */
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(runs: AsyncIterator<readonly T[]>) {
    this.#runs = runs
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#waiting === 0 && this.#at < this.#run.length) return Promise.resolve(this.#take())
    return this.#inTurn(async () => {
      while (this.#at >= this.#run.length) {
        const { done, value } = await this.#runs.next()
        if (done === true) return { done, value: undefined }
        this.#run = value
        this.#at = 0
      }
      return this.#take()
    })
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    return this.#inTurn(async () => {
      this.#run = []
      await this.#runs.return?.()
      return { done: true, value: undefined }
    })
  }

  #take(): IteratorYieldResult<T> {
    return { done: false, value: this.#run[this.#at++] as T }
  }

  #inTurn<R>(act: () => Promise<R>): Promise<R> {
    this.#waiting++
    const turn = this.#last.then(async () => {
      try {
        return await act()
      } finally {
        this.#waiting--
      }
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
