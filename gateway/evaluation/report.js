const form = document.querySelector('form');
const choose = () => {
  const wanted = Object.fromEntries(new FormData(form));
  let count = 0;
  for (const group of document.querySelectorAll('.group')) {
    let inside = 0;
    for (const place of group.querySelectorAll('article')) {
      const fits = ['file', 'type', 'kind'].every(name => !wanted[name] || place.dataset[name] === wanted[name]);
      place.hidden = !fits;
      inside += fits;
    }
    group.hidden = inside === 0;
    group.querySelector('output').textContent = inside;
    count += inside;
  }
  document.getElementById('count').textContent = count + ' places';
};
form.addEventListener('change', choose);
choose();
