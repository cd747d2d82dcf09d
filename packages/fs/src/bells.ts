/** Who waits within this storage object for news of a session. */
export interface Bells {
  /** Gives the function that takes it off again. */
  add(session: string, ring: () => void): () => void
  ring(session: string): void
}

export function createBells(): Bells {
  const bells = new Map<string, Set<() => void>>()
  return {
    add(session, ring) {
      const rings = bells.get(session) ?? new Set()
      bells.set(session, rings.add(ring))
      return () => {
        rings.delete(ring)
        if (rings.size === 0 && bells.get(session) === rings) bells.delete(session)
      }
    },
    ring(session) {
      for (const ring of bells.get(session) ?? []) ring()
    },
  }
}
