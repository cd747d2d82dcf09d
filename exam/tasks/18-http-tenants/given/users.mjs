/** The users by the token that their requests have: `Authorization: Bearer TOKEN`. */
export const users = new Map([
  ["7f3c9a", "ada"],
  ["b81e02", "bob"],
])
