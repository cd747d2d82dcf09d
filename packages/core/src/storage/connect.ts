export interface ConnectionSource<C> {
  readonly open: () => C | Promise<C>
  /** What a connection needs before its first use; where it fails, the connection is closed. */
  readonly setUp?: (connection: C) => void | Promise<void>
  readonly close: (connection: C) => void | Promise<void>
}

export interface Connection<C> {
  /** The connection, made at the first call, and anew where that failed. */
  readonly get: () => Promise<C>
  /** Closes what was made, if anything was. */
  readonly close: () => Promise<void>
}

/** Connects at the first use. */
export function connectOnce<C>({ open, setUp, close }: ConnectionSource<C>): Connection<C> {
  let connection: Promise<C> | undefined

  async function connect(): Promise<C> {
    const made = await open()
    try {
      await setUp?.(made)
      return made
    } catch (error) {
      await close(made)
      throw error
    }
  }

  return {
    get: () =>
      (connection ??= connect().catch((error: unknown) => {
        connection = undefined
        throw error
      })),
    async close() {
      if (connection !== undefined) await close(await connection)
    },
  }
}
