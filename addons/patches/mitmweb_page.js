// Adapts mitmweb's page to the gateway: hides what does not apply, and shows why an action was refused.
"use strict";
{
    const HIDDEN = [
        ["header nav a", /^Capture$/],
        [".dropdown-menu li", /^$|Install Certificates/],
        [".menu-entry", /Strip cache headers|verify server certificates/],
        ["footer .label-success, footer .label-danger, footer .label-primary", /^(?!Intercept:)/],
    ];
    const { limit: most, operator } = document.currentScript.dataset;
    const limit = Number(most);
    const plain = element => element.textContent.replaceAll("\u00a0", " ").trim();

    function adapt() {
        for (const [where, words] of HIDDEN)
            for (const element of document.querySelectorAll(where))
                if (element.hidden !== words.test(plain(element))) element.hidden = !element.hidden;
        // The address of the page can name the hidden tab.
        document.querySelector("header nav a.active[hidden] + a")?.click();
        for (const title of document.querySelectorAll(".main-view h3"))
            if (plain(title) === "mitmproxy is running.") {
                title.textContent = "The gateway is running.";
                title.nextElementSibling.textContent = "No request has arrived yet.";
            }
    }

    function notify(words) {
        document.getElementById("gateway-notice")?.remove();
        const notice = document.createElement("div");
        notice.id = "gateway-notice";
        notice.setAttribute("role", "alert");
        notice.title = "Click to close";
        notice.textContent = words;
        notice.onclick = () => notice.remove();
        document.body.append(notice);
    }

    async function reason(answer, size) {
        if (size > limit) return `Nothing was changed: the edit is larger than body_limit_bytes (${limit} bytes).`;
        const words = answer ? await answer.clone().text() : "";
        return words && !words.startsWith("<") ? words : `mitmweb did not do this (${answer ? `status ${answer.status}` : "no connection"}).`;
    }

    const send = window.fetch;
    window.fetch = async (address, options = {}) => {
        const changes = !["GET", undefined].includes(options.method);
        const size = new Blob([options.body ?? ""]).size;
        try {
            const answer = await send(address, options);
            if (changes && !answer.ok) notify(await reason(answer, size));
            return answer;
        } catch (error) {
            if (changes) notify(await reason(null, size));
            throw error;
        }
    };
    function offerSignOut() {
        const button = document.createElement("button");
        button.id = "gateway-sign-out";
        button.textContent = operator ? `Sign out ${operator}` : "Sign out";
        button.onclick = async () => {
            const [, token] = document.cookie.match(/(?:^|; )_mitmproxy_xsrf=([^;]*)/) ?? [];
            const answer = await window.fetch("./gateway/sign-out", { method: "POST", headers: { "X-XSRFToken": token } });
            if (answer.ok) location.reload();
        };
        document.body.append(button);
    }

    // A token in the address would stay in the browser's history and in bookmarks.
    history.replaceState(null, "", location.pathname + location.hash);
    document.addEventListener("DOMContentLoaded", offerSignOut);
    new MutationObserver(adapt).observe(document, { childList: true, subtree: true, characterData: true });
}
