const KEY = "holdfast.signed-in";

/** Whether somebody was signed in when this browser last looked. Who it was is in a cookie that no script reads. */
export function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
}

export function keepSignedIn(isSignedIn: boolean): void {
  try {
    if (isSignedIn) localStorage.setItem(KEY, "1");
    else localStorage.removeItem(KEY);
  } catch {
    // A browser that keeps nothing only asks later.
  }
}
