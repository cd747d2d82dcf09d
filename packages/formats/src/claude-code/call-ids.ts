/**
 * Ids of tool calls in a file. Those of a log may repeat, in one message and in later ones; Claude Code leaves out a call whose id was there
 * before.
 */
export class CallIds {
  readonly #used = new Set<string>()
  /** By the id in the log: the ids in the file, of the calls of the last message that has it. */
  readonly #calls = new Map<string, string[]>()

  /** A call that is in the file already. */
  saw(id: string): void {
    if (this.#used.has(id)) return
    this.#used.add(id)
    this.#calls.set(id, [id])
  }

  /** The ids in the file of the calls of one message. */
  ofMessage(ids: readonly string[]): readonly string[] {
    for (const id of ids) this.#calls.delete(id)
    return ids.map((id) => {
      const given = this.#newId(apiId(id))
      this.#calls.set(id, [...(this.#calls.get(id) ?? []), given])
      return given
    })
  }

  /** The id in the file of the call that a result answers; undefined if the file has no such call. */
  ofResult(id: string): string | undefined {
    const calls = this.#calls.get(id)
    // Results of calls with one id are in the order of the calls.
    return calls !== undefined && calls.length > 1 ? calls.shift() : calls?.[0]
  }

  #newId(wanted: string): string {
    let id = wanted
    for (let n = 2; this.#isTaken(id); n++) id = `${wanted}-${n}`
    this.#used.add(id)
    return id
  }

  /** Claude Code takes `<id>_2` for the id of a call that repeats `<id>`, and leaves out its result. */
  #isTaken(id: string): boolean {
    const repeated = /^(.+)_\d+$/.exec(id)?.[1]
    return this.#used.has(id) || (repeated !== undefined && this.#used.has(repeated))
  }
}

/** An id of a call that the API takes: `^[a-zA-Z0-9_-]+$`. */
function apiId(id: string): string {
  return id.replaceAll(/[^a-zA-Z0-9_-]/g, "_")
}
