// Light or dark, as TensorBoard's switch says; else as the system does.

import { useEffect, useState } from "preact/hooks";

function host(): HTMLElement | null {
  try {
    return window.parent !== window ? window.parent.document.body : null;
  } catch {
    return null;
  }
}

const system = () => window.matchMedia("(prefers-color-scheme: dark)");

function isDark(): boolean {
  const body = host();
  return body ? body.classList.contains("dark-mode") : system().matches;
}

export function useDark(): boolean {
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    const update = () => setDark(isDark());
    const body = host();
    const observer = new MutationObserver(update);
    if (body) observer.observe(body, { attributes: true, attributeFilter: ["class"] });
    system().addEventListener("change", update);
    return () => {
      observer.disconnect();
      system().removeEventListener("change", update);
    };
  }, []);
  useEffect(() => {
    document.documentElement.classList.toggle("dark", dark);
  }, [dark]);
  return dark;
}
