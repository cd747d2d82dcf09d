/** A connection that is opened at its first use. */
export interface ConnectionSource<C> {
  readonly open: () => C | Promise<C>
  /** Prepares a connection before its first use. If it fails, the connection is closed. */
  readonly setUp?: (connection: C) => void | Promise<void>
  readonly close: (connection: C) => void | Promise<void>
}

export interface Connection<C> {
  /** The connection. The first call opens it; after a failure the next call tries again. */
  readonly get: () => Promise<C>
  /** Closes the connection if it was opened. */
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
