// Keys and the choice of a theme. Nothing here reads or writes what a memory says.
(() => {
  const typing = (target) =>
    target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) || target.closest?.(".q-select, [role=slider]");
  let going = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector(".q-dialog__inner")) return;
    if (event.key === "/") {
      const field = document.querySelector("[data-search] input, input[data-search]");
      if (field) {
        event.preventDefault();
        field.focus();
        field.select();
      } else {
        document.querySelector('a[data-key="e"]')?.click();
      }
      return;
    }
    if (Date.now() < going) {
      going = 0;
      const link = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
      if (link) {
        event.preventDefault();
        link.click();
      }
      return;
    }
    if (event.key === "g") going = Date.now() + 1500;
  });
  window.rememberTheme = (theme) => {
    document.cookie = `longmind_theme=${theme};path=/;max-age=31536000;samesite=strict`;
  };
})();
